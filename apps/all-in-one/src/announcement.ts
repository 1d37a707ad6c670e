import type { AllInOneConfig } from './all-in-one.config.js';
import type { CredentialsNotice } from './owner-credentials.js';
import { dataDirectory, subscriberPasswordPath } from './servers.js';
import type { Services } from './services.js';
import { shellOf, type Shell } from './shell.js';

export interface Announced extends Pick<Services, 'url' | 'simulatorUrl' | 'firstConnection'> {
  /** Undefined when an earlier start created the first owner. */
  credentials: CredentialsNotice | undefined;
  subscriberUrl: string | undefined;
}

/** Returns the text that `npm start` prints once everything runs. */
export function announce(
  config: AllInOneConfig,
  announced: Announced,
  shell = shellOf(process.platform),
): string {
  const { url, simulatorUrl, firstConnection, credentials, subscriberUrl } = announced;
  const lines = [
    '',
    `Stream Event Service is ready at ${url}`,
    '',
    `  Console            ${url}/console/`,
    `  API documentation  ${url}/api/docs`,
    `  Health             ${url}/health/ready`,
    ...(simulatorUrl ? [`  Platform           ${describeSimulator(config, shell)}`] : []),
    ...(subscriberUrl ? [`  Event stream       ${subscriberUrl} (NATS), user subscriber`] : []),
    ...(subscriberUrl ? [`                     password in ${subscriberPasswordPath(config)}`] : []),
    `  Data               ${dataDirectory(config)}`,
    '',
    ...describeOwner(config, credentials, shell),
    '',
    ...firstConnection.map((line) => `  ${line}`),
    ...(firstConnection.length > 0 ? [''] : []),
    '  Try it in another terminal:',
    `    ${shell.set('BASE', url)}`,
    `    ${shell.set('TOKEN', credentials?.shellToken ?? 'paste-the-token-here')}`,
    `    ${shell.curl} -H "Authorization: Token $TOKEN" "$BASE/api/v1/platform-events?page_size=3"`,
    '',
    '  Press Ctrl-C to stop.',
    '',
  ];
  return `${lines.join('\n')}\n`;
}

function describeSimulator(config: AllInOneConfig, shell: Shell): string {
  const { SIMULATOR_RATE } = config;
  const rate = SIMULATOR_RATE === 1 ? '1 event' : `${SIMULATOR_RATE} events`;
  return `SIMULATED, ${rate} per second; control the simulator with: ${dataVariables(config, shell)}npm run simulator`;
}

function describeOwner(
  config: AllInOneConfig,
  credentials: CredentialsNotice | undefined,
  shell: Shell,
): string[] {
  if (!credentials)
    return [
      '  Lost the token? Log in with POST /api-token-auth.',
      `  Lost the password? Stop the service and run: ${dataVariables(config, shell)}npm run owner:reset`,
    ];
  return ['  Created the first owner.', ...credentials.lines.map((line) => `  ${line}`)];
}

/** Returns the variable assignments that must precede a command so that the command uses this installation's data folder. */
function dataVariables({ DATA_DIR, PLATFORM }: AllInOneConfig, shell: Shell): string {
  const directory = DATA_DIR === '.data' ? '' : shell.prefix('DATA_DIR', DATA_DIR);
  return directory + (PLATFORM === 'simulator' ? '' : shell.prefix('PLATFORM', PLATFORM));
}
