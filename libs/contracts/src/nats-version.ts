/** The oldest nats-server that the services work with, as `major.minor`. */
export const oldestNatsVersion = '2.11';

/** @param version a version of nats-server, such as `2.15.1` */
export function isSupportedNats(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldestNatsVersion.split('.').map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}
