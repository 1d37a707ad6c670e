/** The information in the EVENTS stream's description. */
export interface EventStreamDescription {
  /** The platform whose events the stream carries. Events of two platforms never share a stream. */
  platform: string;
  /**
   * 8 random hex digits, which change when the stream is recreated or loses messages. Sequences of different epochs are unrelated.
   * Undefined when a version without epochs created the stream.
   */
  epoch: string | undefined;
}

/**
 * Prints the description of the EVENTS stream: `events of platform simulator, epoch 1a2b3c4d`. The description contains the epoch because
 * nats-server 2.9 has no stream metadata. Every user who may read the stream's info can read the description.
 */
export function printStreamDescription({ platform, epoch }: EventStreamDescription): string {
  return `events of platform ${platform}${epoch === undefined ? '' : `, epoch ${epoch}`}`;
}

/** Parses the output of `printStreamDescription`. Returns undefined for any other text. */
export function parseStreamDescription(description: string): EventStreamDescription | undefined {
  const [, platform, epoch] =
    /^events of platform ([^,]+)(?:, epoch ([0-9a-f]{8}))?$/.exec(description) ?? [];
  return platform === undefined ? undefined : { platform, epoch };
}
