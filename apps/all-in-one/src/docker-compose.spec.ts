import { readFileSync } from 'node:fs';
import { events } from '@stream-events/events';
import { gateway } from '@stream-events/gateway';
import { platformConnector } from '@stream-events/platform-connector';
import { streamerMonitor } from '@stream-events/streamer-monitor';
import { parse } from 'yaml';

// Safe cast: the file is part of this repository.
const { services } = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }) as {
  services: Record<string, { environment: Record<string, string> }>;
};

/** The image sets these variables, so the file does not have to. */
const setByImage = ['HOST', 'PORT', 'ADMIN_PORT'];
/** The file must not set this variable. Its value in .env would give all services the same name. */
const notSet = ['OTEL_SERVICE_NAME'];

describe('docker-compose.yml', () => {
  it.each([gateway, events, platformConnector, streamerMonitor])(
    'sets every variable that $name reads, and no others',
    ({ name, variables }) => {
      const expected = Object.keys(variables).filter(
        (variable) => !setByImage.includes(variable) && !notSet.includes(variable),
      );
      expect(Object.keys(services[name]?.environment ?? {}).sort()).toEqual(expected.sort());
    },
  );
});
