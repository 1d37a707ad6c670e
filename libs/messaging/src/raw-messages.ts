import { NatsRequestJSONDeserializer } from '@nestjs/microservices';
import { isJsonObject, type Contract, type JsonObject } from '@stream-events/contracts';
import { headers, type Msg, type MsgHdrs } from '@nats-io/transport-node';

/**
 * The NATS headers of messages that are bytes instead of JSON (see `RawFormat`). A caller sends the first one when it can read a raw
 * reply. The second one marks a raw reply; errors, and the replies of services that do not know these headers, are JSON.
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
 * Reads Nest's envelopes, and the raw requests of the contracts that have them, which have no envelope. Anything else becomes a
 * request without data, which the contract refuses: Nest would log an error and send no reply, and the caller would wait.
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

// Nest treats a message without an id as an event and sends no reply. The reply inbox is unique already.
const noId = 'none';

/** Our services escape no names, so `json()` reads the names correctly (see `parseJson`). */
function readEnvelope(message: Msg): JsonObject {
  try {
    const envelope: unknown = message.json();
    return isJsonObject(envelope) ? envelope : {};
  } catch {
    return {};
  }
}
