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
 * Turns a parsed message into an instance of its class, and drops unknown fields, which a newer version of a service may send. Never
 * converts values of a wrong type.
 *
 * @throws ServiceError `invalid` with all errors by field
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

/** class-transformer throws on a member named `constructor`, and on nesting too deep for the stack. */
function toInstance<T extends object>(type: MessageClass<T>, message: JsonObject): T {
  try {
    return plainToInstance(type, message);
  } catch (cause) {
    throw new ServiceError('invalid', 'The message has a member with an invalid value.', { cause });
  }
}

/** Parses a contract's request, by the contract's own format if it has one. */
export function parseRequest<Request extends object>(
  contract: Contract<Request, object>,
  message: unknown,
): Request {
  if (contract.rawRequest) {
    if (message instanceof Uint8Array) return contract.rawRequest.parse(message);
    throw new ServiceError('invalid', 'The message must be bytes.');
  }
  return parseMessage(contract.request, message);
}

/** Turns class-validator's errors into a validation error. */
export function toValidationError(faults: ValidationError[]): ServiceError {
  const errors = Object.create(null) as FieldErrors; // Safe cast: the object is empty; it has no prototype, so that a field may be named `__proto__`.
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
