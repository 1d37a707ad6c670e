/** What the EVENTS stream's description says. */
export interface EventStreamDescription {
  /** The stream's platform. Events of two platforms never share a stream. */
  platform: string;
  /**
   * 8 random hex digits. They change when the stream is recreated or loses its newest messages. Sequences of different epochs cannot be
   * compared. Undefined if a version without epochs created the stream.
   */
  epoch: string | undefined;
}

/**
 * Prints the EVENTS stream's description: `events of platform simulator, epoch 1a2b3c4d`. Everyone who can read the stream's info can read
 * the description, and tools such as `nats stream info` show it.
 */
export function printStreamDescription({ platform, epoch }: EventStreamDescription): string {
  return `events of platform ${platform}${epoch === undefined ? '' : `, epoch ${epoch}`}`;
}

/** Parses the output of `printStreamDescription`; undefined for any other text. */
export function parseStreamDescription(description: string): EventStreamDescription | undefined {
  const [, platform, epoch] =
    /^events of platform ([^,]+)(?:, epoch ([0-9a-f]{8}))?$/.exec(description) ?? [];
  return platform === undefined ? undefined : { platform, epoch };
}
