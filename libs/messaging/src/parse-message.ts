import {
  isJsonObject,
  ServiceError,
  type Contract,
  type FieldErrors,
  type JsonObject,
  type MessageClass,
} from '@stream-events/contracts';
import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';

/**
 * Turns a parsed message into an instance of its class. Drops unknown fields, because a service of a newer version can send
 * more fields. Never converts a value of the wrong type.
 *
 * @throws ServiceError `invalid` with all errors, by field
 */
export function parseMessage<T extends object>(type: MessageClass<T>, message: unknown): T {
  if (!isJsonObject(message)) {
    throw new ServiceError('invalid', 'The message must be a JSON object.');
  }
  const instance = toInstance(type, message);
  // Allow classes without rules, because some requests have no fields.
  const faults = validateSync(instance, { whitelist: true, forbidUnknownValues: false });
  if (faults.length > 0) throw toValidationError(faults);
  return instance;
}

/** class-transformer throws when a member is named `constructor`, or when the nesting is too deep for the stack. */
function toInstance<T extends object>(type: MessageClass<T>, message: JsonObject): T {
  try {
    return plainToInstance(type, message);
  } catch (cause) {
    throw new ServiceError('invalid', 'The message has a member with an invalid value.', { cause });
  }
}

/** Parses the request of a contract, with the contract's own format or parser if it has one. */
export function parseRequest<Request extends object>(
  contract: Contract<Request, object>,
  message: unknown,
): Request {
  if (contract.rawRequest) {
    if (message instanceof Uint8Array) return contract.rawRequest.parse(message);
    throw new ServiceError('invalid', 'The message must be bytes.');
  }
  return contract.parseRequest ? contract.parseRequest(message) : parseMessage(contract.request, message);
}

/** Converts the errors of class-validator into a validation error. */
export function toValidationError(faults: ValidationError[]): ServiceError {
  const errors = Object.create(null) as FieldErrors; // Safe cast: the object is empty. It has no prototype, so a field may be named `__proto__`.
  collect(faults, '', errors);
  return ServiceError.onFields(errors);
}

function collect(faults: ValidationError[], parent: string, errors: FieldErrors): void {
  for (const fault of faults) {
    const field = parent === '' ? fault.property : `${parent}.${fault.property}`;
    const messages = Object.values(fault.constraints ?? {});
    if (messages.length > 0)
      errors[field] = messages.map((message) => withoutFieldName(message, fault.property));
    collect(fault.children ?? [], field, errors);
  }
}

function withoutFieldName(message: string, field: string): string {
  return message.startsWith(`${field} `) ? message.slice(field.length + 1) : message;
}
