import { Ajv2020 } from 'ajv/dist/2020.js';
import { exampleOf } from './event-examples.js';
import { schemaOf } from './event-schemas.js';
import { eventTypes, findEventType } from './event-types.js';

describe(schemaOf.name, () => {
  it.each(eventTypes)('describes the example of $type, version $version', (row) => {
    const validate = new Ajv2020({ allErrors: true, validateSchema: true }).compile(schemaOf(row));
    const example = exampleOf(row);
    validate(example);
    expect(validate.errors).toBeNull();
    expect(Object.keys(example)).not.toEqual([]);
  });

  it('refuses events without a required field or with a wrong kind, and permits further fields', () => {
    const row = findEventType('channel.cheer')!;
    const validate = new Ajv2020().compile(schemaOf(row));
    const { bits, ...withoutBits } = exampleOf(row);
    expect(validate({ ...withoutBits, bits, added: 1 })).toBe(true);
    expect(validate(withoutBits)).toBe(false);
    expect(validate({ ...withoutBits, bits: '7' })).toBe(false);
  });

  it('marks fields that can be null or missing', () => {
    const { properties, required } = schemaOf(findEventType('channel.cheer')!);
    expect(properties).toMatchObject({ user_id: { type: ['string', 'null'] }, bits: { type: 'integer' } });
    expect(required).toContain('user_id');
    expect(schemaOf(findEventType('stream.offline')!).required).not.toContain('id');
  });
});
