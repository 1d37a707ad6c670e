import { Anchor } from '@mantine/core';
import { CodeBlock } from '../kit/code-block.js';
import { StatusText } from '../kit/status-text.js';
import type { PlatformStatus } from '../platform/platform-queries.js';
import classes from './onboarding.module.css';

const realPlatform =
  'PLATFORM=twitch PLATFORM_CLIENT_ID=paste-the-client-id PLATFORM_CLIENT_SECRET=paste-the-secret npm start';
const simulation = 'PLATFORM=simulator npm start';

/** Shows the current platform and how to change it. Changing the platform requires a restart, because simulated and real data never mix. */
export function PlatformStep({ status: { platform, credentials } }: { status: PlatformStatus }) {
  if (platform === 'simulator')
    return (
      <>
        <div>
          The <b>simulation</b> runs now: a built-in platform with made-up streamers, who follow, cheer, and
          raid. Nothing in the simulation is real, so you can try everything.
        </div>
        <details>
          <summary>Use a real channel instead</summary>
          <RealPlatform />
        </details>
      </>
    );
  if (platform === 'none')
    return (
      <>
        <div>No platform is configured. Events come from your own programs only.</div>
        <RealPlatform />
      </>
    );
  const isUsable = credentials.present && credentials.valid !== false;
  return (
    <>
      <div>
        The <b>real platform</b> ({platform}) is configured. <Application credentials={credentials} />
      </div>
      {!isUsable && <RealPlatform />}
      <details>
        <summary>Try it with made-up data instead</summary>
        <div className={classes.instructions}>
          Stop the service, and start it with the simulation. The service stores real and simulated data
          separately, and keeps both.
          <CodeBlock label="Command" text={simulation} />
        </div>
      </details>
    </>
  );
}

function Application({ credentials: { present, valid } }: { credentials: PlatformStatus['credentials'] }) {
  if (!present) return <StatusText tone="bad">The client id or the secret is missing</StatusText>;
  if (valid === false)
    return <StatusText tone="bad">The platform rejects the client id or the secret</StatusText>;
  return <StatusText tone="good">The application is configured</StatusText>;
}

function RealPlatform() {
  return (
    <ol className={classes.instructions}>
      <li>
        Register an application at{' '}
        <Anchor
          inherit
          underline="always"
          href="https://dev.twitch.tv/console/apps"
          target="_blank"
          rel="noopener noreferrer"
        >
          dev.twitch.tv/console
        </Anchor>{' '}
        (client type <i>Confidential</i>). The registration is free. Copy the client id, and a new secret.
      </li>
      <li>
        Stop the service with Ctrl-C in its terminal, and start it with the client id and the secret:
        <CodeBlock label="Command" text={realPlatform} />
        In a container, set the same three environment variables.
      </li>
      <li>Sign in here again. The simulated data is kept, separate from the real data.</li>
    </ol>
  );
}
