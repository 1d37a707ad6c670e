import { NatsRequestJSONDeserializer } from '@nestjs/microservices';
import { isJsonObject, type Contract, type JsonObject } from '@stream-events/contracts';
import { headers, type Msg, type MsgHdrs } from '@nats-io/transport-node';

/**
 * The NATS header of replies that are bytes instead of JSON (see `RawFormat`). Errors are always JSON, so a caller cannot tell from the
 * contract alone what it received.
 */
export const rawHeader = 'Raw';

export function rawReplyHeaders(): MsgHdrs {
  const replyHeaders = headers();
  replyHeaders.set(rawHeader, '1');
  return replyHeaders;
}

/**
 * Reads Nest's envelopes, and raw requests, which have none. Turns any other message into a request without data, which the contract
 * rejects. Nest would log an error and not reply, so the caller would wait until it times out.
 */
export class RequestDeserializer extends NatsRequestJSONDeserializer {
  private readonly rawSubjects: ReadonlySet<string>;

  constructor(contracts: readonly Contract<object, object>[]) {
    super();
    this.rawSubjects = new Set(
      contracts.filter(({ rawRequest }) => rawRequest).map(({ subject }) => subject),
    );
  }

  override deserialize(message: Msg): ReturnType<NatsRequestJSONDeserializer['deserialize']> {
    const { subject, data } = message;
    if (this.rawSubjects.has(subject)) return { pattern: subject, data, id: noId };
    const envelope = readEnvelope(message);
    const { id } = envelope;
    return { pattern: subject, data: envelope.data, id: typeof id === 'string' ? id : noId };
  }
}

// A constant id for requests, whose inboxes are unique anyway. Nest takes a message without an id for an event and does not reply.
const noId = 'none';

/** `json()` can misread escaped member names, but our services escape none (see `parseJson`). */
function readEnvelope(message: Msg): JsonObject {
  try {
    const envelope: unknown = message.json();
    return isJsonObject(envelope) ? envelope : {};
  } catch {
    return {};
  }
}
