import type { JetStreamManager, NextMsgRequest, SeqMsgRequest } from '@nats-io/jetstream';

/** A part of a stream: the first and the last sequence, both inclusive. */
export interface SequenceRange {
  from: number;
  until: number;
}

/** A server whose copy of the stream lacks messages has answered. Read again: NATS may place the next consumer on another server. */
export class LaggingServerError extends Error {
  constructor(stream: string, from: number) {
    super(
      `a NATS server that is catching up has answered, reading the ${stream} stream from sequence ${from} again`,
    );
  }
}

/**
 * Confirms with the stream's leader that a part of a stream has no messages. NATS places a consumer without replicas on any server that
 * stores the stream, even on a server that still catches up with the leader after a restart. The consumer then reports the end of this
 * server's copy as the end of the stream. The leader, which answers this request, has all messages.
 *
 * @throws LaggingServerError when there is a message; another error when the broker does not respond
 */
export async function confirmNoMessages(
  { streams }: JetStreamManager,
  stream: string,
  { from, until }: SequenceRange,
): Promise<void> {
  // The next message at or after the sequence, on any subject. The client's type does not know this combination.
  const next: SeqMsgRequest & NextMsgRequest = { seq: from, next_by_subj: '>' };
  const message = await streams.getMessage(stream, next);
  // Messages after `until` may be newer than the consumer's answer.
  if (message && message.seq <= until) throw new LaggingServerError(stream, from);
}
