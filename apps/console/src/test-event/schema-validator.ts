import { Validator } from '@cfworker/json-schema';
import { toErrorSchema, type RJSFSchema, type RJSFValidationError, type ValidatorType } from '@rjsf/utils';

/**
 * Validates what the form holds. The validator that the form library offers compiles schemas to functions, which the
 * Content-Security-Policy of the console forbids; this one interprets them.
 */
export const schemaValidator: ValidatorType = {
  validateFormData: (data, schema) => {
    const errors = validate(schema, data).map(toFormError);
    return { errors, errorSchema: toErrorSchema(errors) };
  },
  isValid: (schema, data, rootSchema) => validate({ ...rootSchema, ...schema }, data).length === 0,
  rawValidation: (schema, data) => ({ errors: validate(schema, data) as never[] }),
};

interface SchemaError {
  instanceLocation: string;
  keyword: string;
  error: string;
}

function validate(schema: RJSFSchema, data: unknown): SchemaError[] {
  // Without `false`, the validator stops at the first error. Safe cast: the same kind of document, described by another library.
  const validator = new Validator(schema as ConstructorParameters<typeof Validator>[0], '2020-12', false);
  // JSON has no `undefined`, which the form has for empty fields.
  const { errors } = validator.validate(JSON.parse(JSON.stringify(data ?? null)));
  // An error in a field is also reported for all objects around it.
  return errors.filter(({ keyword }) => keyword !== 'properties' && keyword !== 'items');
}

function toFormError({ instanceLocation, keyword, error }: SchemaError): RJSFValidationError {
  const path = instanceLocation.replace(/^#\/?/, '').split('/').filter(Boolean);
  const property = path.map((part) => `.${part}`).join('');
  return { name: keyword, message: error, property, stack: `${property} ${error}` };
}
