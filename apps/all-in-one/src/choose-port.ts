import { findFreePort } from '@stream-events/embedded';

/** The wanted port, or another free one when that is taken; then says so. */
export async function choosePort(
  wanted: number,
  purpose: string,
  say: (line: string) => void,
): Promise<number> {
  const port = await findFreePort(wanted);
  if (wanted !== 0 && port !== wanted) say(`Port ${wanted} is in use: ${purpose} listens on port ${port}`);
  return port;
}
