// The health check of the image. Exits with 0 if the service in this container is ready, and with 1 if not.
import { get } from 'node:http';

// A container runs one service, and each service has its own default port. Without ADMIN_PORT, try all of them: only this container's
// service responds.
const ports = process.env.ADMIN_PORT ? [process.env.ADMIN_PORT] : [9000, 9001, 9002, 9003, 9004];

/** Resolves when the service on the port is ready. */
function check(port) {
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path: '/health/ready', timeout: 4_000 }, (response) => {
      response.resume();
      if (response.statusCode === 200) resolve();
      else reject(new Error(`port ${port} responded with ${response.statusCode}`));
    });
    request.once('timeout', () => request.destroy(new Error(`port ${port} did not respond in time`)));
    request.once('error', reject);
  });
}

await Promise.any(ports.map(check)).then(
  () => process.exit(0),
  ({ errors }) => {
    const faults = errors.filter(({ code }) => code !== 'ECONNREFUSED').map(({ message }) => message);
    process.stdout.write(`Not ready: ${faults.join('; ') || 'no service listens yet'}\n`);
    process.exit(1);
  },
);
