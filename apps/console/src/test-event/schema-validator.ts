import { Validator } from '@cfworker/json-schema';
import { toErrorSchema, type RJSFSchema, type RJSFValidationError, type ValidatorType } from '@rjsf/utils';

/**
 * Validates the data of the form. The validator of the form library compiles schemas to functions, which the Content-Security-Policy of the
 * console forbids. This validator interprets schemas instead.
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
  // `false`: do not stop at the first error. Safe cast: both libraries describe the same kind of document.
  const validator = new Validator(schema as ConstructorParameters<typeof Validator>[0], '2020-12', false);
  // Removes `undefined`, which the form uses for empty fields, because JSON has no `undefined`.
  const { errors } = validator.validate(JSON.parse(JSON.stringify(data ?? null)));
  // For an error in a field, the validator also reports an error for each object that contains the field.
  return errors.filter(({ keyword }) => keyword !== 'properties' && keyword !== 'items');
}

function toFormError({ instanceLocation, keyword, error }: SchemaError): RJSFValidationError {
  const path = instanceLocation.replace(/^#\/?/, '').split('/').filter(Boolean);
  const property = path.map((part) => `.${part}`).join('');
  return { name: keyword, message: error, property, stack: `${property} ${error}` };
}
