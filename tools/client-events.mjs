// Prints the types of the platform's events for the TypeScript client, from the JSON Schemas of the catalogue.

/**
 * Returns a TypeScript module with the data type of each event type. Several versions of an event type become a union.
 */
export function printEventData(eventTypes, schemaOf) {
  const names = new Set(eventTypes.map(({ type }) => type));
  const members = [...names].map((name) => {
    const rows = eventTypes.filter(({ type }) => type === name);
    const types = new Set(rows.map((row) => printType(schemaOf(row))));
    // Use the description of the newest version. The rows are sorted by version.
    return `/** ${rows.at(-1).description} */\n'${name.replaceAll('.', '-')}': ${[...types].join(' | ')};`;
  });
  return `// Written by npm run generate from the JSON Schemas of the events (GET /api/v1/platform/event-types/<type>).

/** The data of the events of the platform, by event type. The platform adds fields without notice. */
export interface EventData {
${members.join('\n')}
}
`;
}

function printType(schema) {
  const kinds = [schema.type].flat();
  return kinds.map((kind) => printKind(kind, schema)).join(' | ');
}

function printKind(kind, { properties, required = [], items }) {
  if (kind === 'integer') return 'number';
  if (kind === 'array') return `(${printType(items)})[]`; // Prettier removes unnecessary parentheses.
  if (kind !== 'object') return kind;
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${name}${required.includes(name) ? '' : '?'}: ${printType(schema)}`,
  );
  return fields.length === 0 ? 'Record<string, unknown>' : `{ ${fields.join('; ')} }`;
}
