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
 * A form for event data, generated from the JSON Schema of the event type. The page shows the schema's title and description elsewhere. The
 * page loads this form lazily, which requires a default export.
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
        // Safe cast: an event's schema describes an object.
        onChange={({ formData }) => onChange((formData ?? {}) as EventData)}
      />
    </div>
  );
}
