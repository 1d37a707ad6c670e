// Validates the API descriptions: OpenAPI 3.1 and AsyncAPI 3.0.
import asyncApiParser from '@asyncapi/parser';
import { Validator } from '@seriousme/openapi-schema-validator';

// The parser's severities: 0 error, 1 warning. From 2 on they are hints, such as a newer AsyncAPI version.
const hint = 2;

/** Returns the faults of an OpenAPI description that is given as text. */
export async function findOpenApiFaults(text) {
  const { valid, errors = [] } = await new Validator().validate(JSON.parse(text));
  if (valid) return [];
  return [errors].flat().map((error) => (typeof error === 'string' ? error : JSON.stringify(error)));
}

/** Returns the faults of an AsyncAPI description that is given as text. */
export async function findAsyncApiFaults(text) {
  const diagnostics = await new asyncApiParser.Parser().validate(text);
  return diagnostics
    .filter(({ severity }) => severity < hint)
    .map(({ path, message }) => `${path.join('.')}: ${message}`);
}
