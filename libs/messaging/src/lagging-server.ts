import type { JetStreamManager, NextMsgRequest, SeqMsgRequest } from '@nats-io/jetstream';

/** A part of a stream, both ends inclusive. */
export interface SequenceRange {
  from: number;
  until: number;
}

/**
 * The server that answered has a copy of the stream that lacks messages. Read again, because NATS may place the next consumer on another
 * server.
 */
export class LaggingServerError extends Error {
  constructor(stream: string, from: number) {
    super(
      `the NATS server that answered lacks messages of the ${stream} stream, because the server is still catching up. Reading again from sequence ${from}`,
    );
  }
}

/**
 * Asks the stream's leader whether a part of the stream really has no messages. NATS can place a consumer without replicas on any server
 * with a copy of the stream, even one that is still catching up after a restart. That consumer mistakes the end of this copy for the end of
 * the stream. The leader, which answers here, has all messages.
 *
 * @throws LaggingServerError when there is a message; another error when the broker does not respond
 */
export async function confirmNoMessages(
  { streams }: JetStreamManager,
  stream: string,
  { from, until }: SequenceRange,
): Promise<void> {
  // Asks for the next message at or after the sequence, on any subject. The type of the client does not allow these two fields together.
  const next: SeqMsgRequest & NextMsgRequest = { seq: from, next_by_subj: '>' };
  const message = await streams.getMessage(stream, next);
  // A message after `until` may have arrived after the consumer answered.
  if (message && message.seq <= until) throw new LaggingServerError(stream, from);
}
