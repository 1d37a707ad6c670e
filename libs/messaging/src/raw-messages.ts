import { NatsRequestJSONDeserializer } from '@nestjs/microservices';
import { isJsonObject, type Contract, type JsonObject } from '@stream-events/contracts';
import { headers, type Msg, type MsgHdrs } from '@nats-io/transport-node';

/**
 * The NATS headers of messages that are bytes instead of JSON (see `RawFormat`). A caller that can read a raw reply sends `Accept-Raw`. A
 * raw reply has the header `Raw`. A reply without this header is JSON: an error, or the reply of a service that does not know these
 * headers.
 */
export const acceptRawHeader = 'Accept-Raw';
export const rawHeader = 'Raw';

/** The headers of a raw reply. */
export function rawReplyHeaders(): MsgHdrs {
  const replyHeaders = headers();
  replyHeaders.set(rawHeader, '1');
  return replyHeaders;
}

/**
 * Reads Nest's envelopes, and raw requests, which have no envelope. Any other message becomes a request without data, which the contract
 * rejects. Nest itself would log an error and send no reply, so the caller would wait until its time limit.
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

// Nest treats a message without an id as an event and sends no reply. A constant id is enough, because the reply inbox of each
// request is unique.
const noId = 'none';

/** `json()` can misread escaped names of members, but our services escape no names (see `parseJson`). */
function readEnvelope(message: Msg): JsonObject {
  try {
    const envelope: unknown = message.json();
    return isJsonObject(envelope) ? envelope : {};
  } catch {
    return {};
  }
}
