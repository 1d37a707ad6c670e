import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';

/**
 * Validates a value against the schema at `pointer` in a document, for example `#/components/schemas/Event`. Returns the validation errors;
 * an empty list means that the value is valid.
 */
export function findFaults(document: object, pointer: string, value: unknown): string[] {
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const validate = ajv.addSchema(document, 'document').getSchema(`document${pointer}`);
  if (!validate) throw new Error(`the document has no schema at ${pointer}`);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
