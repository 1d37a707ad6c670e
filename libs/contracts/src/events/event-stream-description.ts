/** What the EVENTS stream says of itself. */
export interface EventStreamDescription {
  /** Which platform its events come from: events of two platforms never share a stream. */
  platform: string;
  /**
   * 8 hex digits, drawn anew whenever the stream is made anew or has lost messages. Sequences of two epochs have nothing
   * to do with each other. Undefined: the stream was made by a version that had no epochs.
   */
  epoch: string | undefined;
}

/**
 * Prints the description of the EVENTS stream: `events of platform simulator, epoch 1a2b3c4d`. It stands there because
 * nats-server 2.9 knows no metadata of streams, and whoever may read the stream's info may read it.
 */
export function printStreamDescription({ platform, epoch }: EventStreamDescription): string {
  return `events of platform ${platform}${epoch === undefined ? '' : `, epoch ${epoch}`}`;
}

/** Reads what `printStreamDescription` printed; undefined when it is no such text. */
export function parseStreamDescription(description: string): EventStreamDescription | undefined {
  const [, platform, epoch] =
    /^events of platform ([^,]+)(?:, epoch ([0-9a-f]{8}))?$/.exec(description) ?? [];
  return platform === undefined ? undefined : { platform, epoch };
}
