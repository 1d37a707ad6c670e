import { findFreePort } from '@stream-events/embedded';

/**
 * Returns the wanted port. If that port is in use, or if this user may not listen on it, prints a notice and
 * returns a free port.
 */
export async function choosePort(
  wanted: number,
  purpose: string,
  say: (line: string) => void,
): Promise<number> {
  const port = await findFreePort(wanted);
  if (wanted !== 0 && port !== wanted)
    say(`Port ${wanted} is in use or not permitted: ${purpose} listens on port ${port}`);
  return port;
}
