import { findFreePort } from '@stream-events/embedded';

interface PortChoice {
  wanted: number;
  /** Whether somebody has asked for this port: other programs then use it, so no other port will do. */
  isFixed: boolean;
  /** What listens on the port. */
  purpose: string;
  say: (line: string) => void;
}

/**
 * Returns the wanted port. If that port is in use, or if this user may not listen on it, prints a notice and returns a free port.
 *
 * @throws Error if the port is fixed and not available
 */
export async function choosePort({ wanted, isFixed, purpose, say }: PortChoice): Promise<number> {
  const port = await findFreePort(wanted);
  if (wanted === 0 || port === wanted) return port;
  if (isFixed)
    throw new Error(
      `port ${wanted} (PORT) is in use or not permitted. Stop the program that uses it, or set PORT to another port. Without PORT, ${purpose} chooses a free one`,
    );
  say(`Port ${wanted} is in use or not permitted: ${purpose} listens on port ${port}`);
  return port;
}

/** Returns the choice of the gateway's port. */
export function gatewayPort(wanted: number, say: (line: string) => void): PortChoice {
  return { wanted, isFixed: Boolean(process.env.PORT), purpose: 'the gateway', say };
}
