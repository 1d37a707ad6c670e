import Form from '@rjsf/mantine';
import type { RJSFSchema, UiSchema } from '@rjsf/utils';
import classes from './schema-form.module.css';
import { schemaValidator } from './schema-validator.js';
import type { EventData } from './surprise.js';

interface SchemaFormProps {
  schema: RJSFSchema;
  data: EventData;
  onChange: (data: EventData) => void;
}

const uiSchema: UiSchema = { 'ui:submitButtonOptions': { norender: true } };

/**
 * A form for the data of an event, from the JSON Schema of its type. The page shows the title and the description of the schema elsewhere.
 * This is a default export, because the page loads the form lazily.
 */
export default function SchemaForm({ schema, data, onChange }: SchemaFormProps) {
  const { title: _title, description: _description, $schema: _dialect, ...rest } = schema;
  return (
    <div className={classes.form}>
      <Form
        tagName="div"
        idPrefix="event"
        schema={rest}
        uiSchema={uiSchema}
        formData={data}
        validator={schemaValidator}
        liveValidate="onChange"
        showErrorList={false}
        noHtml5Validate
        // Safe cast: the schema of an event is an object.
        onChange={({ formData }) => onChange((formData ?? {}) as EventData)}
      />
    </div>
  );
}
