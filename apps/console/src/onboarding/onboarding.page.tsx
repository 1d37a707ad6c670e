import { Button, Group } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { endOnboarding } from '../api/onboarding.js';
import { connectionsQuery, platformStatusQuery } from '../api/queries.js';
import { ButtonLink } from '../kit/links.js';
import { Page } from '../kit/page.js';
import { QueryView } from '../kit/query-view.js';
import type { PlatformStatus } from '../platform/platform-queries.js';
import { ConnectStep } from './connect-step.js';
import { FirstEventStep } from './first-event-step.js';
import classes from './onboarding.module.css';
import { PlatformStep } from './platform-step.js';
import { Step } from './step.js';

const pollMs = 5_000;

/** Guides an owner from an empty installation to the first event. Each step detects that it is complete. */
export function OnboardingPage() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const status = useQuery({ ...platformStatusQuery, refetchInterval: pollMs });
  const connections = useQuery({ ...connectionsQuery, refetchInterval: pollMs });
  const [isOver, setIsOver] = useState(false);
  const finish = (): void => {
    endOnboarding(queries);
    setIsOver(true);
  };
  const skip = (): void => {
    endOnboarding(queries);
    void navigate({ to: '/events' });
  };
  return (
    <Page title="Get started" description="From an empty installation to the first event">
      <QueryView query={status}>
        {(platform) => (
          <QueryView query={connections}>
            {(all) => {
              const channel = all.find(({ state, role }) => state === 'connected' && role === 'channel');
              const isSimulated = platform.platform === 'simulator';
              const hasPlatform = isSimulated || hasApplication(platform);
              return (
                <ol className={classes.steps}>
                  <Step
                    number={1}
                    title="Choose where events come from"
                    state={hasPlatform ? 'done' : 'current'}
                  >
                    <PlatformStep status={platform} />
                  </Step>
                  <Step
                    number={2}
                    title="Connect a channel"
                    state={stateOf(channel !== undefined, hasPlatform)}
                  >
                    <ConnectStep connections={all} channel={channel} isSimulated={isSimulated} />
                  </Step>
                  <Step number={3} title="See the first event" state={stateOf(isOver, channel !== undefined)}>
                    {channel?.platform_id == null ? (
                      'The first event appears here after a channel is connected.'
                    ) : (
                      <FirstEventStep
                        channelId={channel.platform_id}
                        channel={channel.platform_username ?? ''}
                        isSimulated={isSimulated}
                        onArrived={finish}
                      />
                    )}
                  </Step>
                </ol>
              );
            }}
          </QueryView>
        )}
      </QueryView>
      <Group gap="xs" mt="md">
        {isOver ? (
          <>
            <ButtonLink to="/events">Show all events</ButtonLink>
            <ButtonLink variant="default" to="/tokens">
              Create a token for your bot or overlay
            </ButtonLink>
          </>
        ) : (
          <>
            <ButtonLink variant="default" to="/events">
              Continue later
            </ButtonLink>
            <Button variant="subtle" onClick={skip}>
              Do not show this again
            </Button>
          </>
        )}
      </Group>
    </Page>
  );
}

/** Whether the service has valid credentials to ask for consent. */
function hasApplication({ platform, credentials }: PlatformStatus): boolean {
  return platform !== 'none' && credentials.present && credentials.valid !== false;
}

function stateOf(isDone: boolean, isPossible: boolean): 'done' | 'current' | 'later' {
  if (isDone) return 'done';
  return isPossible ? 'current' : 'later';
}
