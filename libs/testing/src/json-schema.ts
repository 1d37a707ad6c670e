import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';

/**
 * Validates a value against the schema at a pointer (`#/components/schemas/Event`) of a document. Returns the faults, or an empty list when
 * the value is valid.
 */
export function findFaults(document: object, pointer: string, value: unknown): string[] {
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const validate = ajv.addSchema(document, 'document').getSchema(`document${pointer}`);
  if (!validate) throw new Error(`the document has no schema at ${pointer}`);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
