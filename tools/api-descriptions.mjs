// Whether descriptions of the API are what they claim to be: OpenAPI 3.1, AsyncAPI 3.0.
import asyncApiParser from '@asyncapi/parser';
import { Validator } from '@seriousme/openapi-schema-validator';

// The parser's severities: 0 error, 1 warning; what is above is a hint, as that there is a newer version of AsyncAPI.
const worstHint = 2;

/** What is wrong with an OpenAPI description, given as text. */
export async function findOpenApiFaults(text) {
  const { valid, errors = [] } = await new Validator().validate(JSON.parse(text));
  if (valid) return [];
  return [errors].flat().map((error) => (typeof error === 'string' ? error : JSON.stringify(error)));
}

/** What is wrong with an AsyncAPI description, given as text. */
export async function findAsyncApiFaults(text) {
  const diagnostics = await new asyncApiParser.Parser().validate(text);
  return diagnostics
    .filter(({ severity }) => severity < worstHint)
    .map(({ path, message }) => `${path.join('.')}: ${message}`);
}
