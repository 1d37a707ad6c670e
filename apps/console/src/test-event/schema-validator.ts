import { Validator } from '@cfworker/json-schema';
import { toErrorSchema, type RJSFSchema, type RJSFValidationError, type ValidatorType } from '@rjsf/utils';

/**
 * Validates form data by interpreting the schema. The form library's own validator compiles schemas to functions, which the console's
 * Content-Security-Policy forbids.
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
  // The form uses `undefined` for empty fields. JSON has no `undefined`, so remove it.
  const { errors } = validator.validate(JSON.parse(JSON.stringify(data ?? null)));
  // For an error in a field, the validator also reports every object around the field. Keep only the field's error.
  return errors.filter(({ keyword }) => keyword !== 'properties' && keyword !== 'items');
}

function toFormError({ instanceLocation, keyword, error }: SchemaError): RJSFValidationError {
  const path = instanceLocation.replace(/^#\/?/, '').split('/').filter(Boolean);
  const property = path.map((part) => `.${part}`).join('');
  return { name: keyword, message: error, property, stack: `${property} ${error}` };
}
