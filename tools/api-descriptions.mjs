// Validates the API descriptions: OpenAPI 3.1 and AsyncAPI 3.0.
import asyncApiParser from '@asyncapi/parser';
import { Validator } from '@seriousme/openapi-schema-validator';

// Counts errors (severity 0) and warnings (1) as faults. Higher severities are hints, such as "a newer AsyncAPI version exists".
const hint = 2;

/** Returns the faults in the text of an OpenAPI description. */
export async function findOpenApiFaults(text) {
  const { valid, errors = [] } = await new Validator().validate(JSON.parse(text));
  if (valid) return [];
  return [errors].flat().map((error) => (typeof error === 'string' ? error : JSON.stringify(error)));
}

/** Returns the faults in the text of an AsyncAPI description. */
export async function findAsyncApiFaults(text) {
  const diagnostics = await new asyncApiParser.Parser().validate(text);
  return diagnostics
    .filter(({ severity }) => severity < hint)
    .map(({ path, message }) => `${path.join('.')}: ${message}`);
}
