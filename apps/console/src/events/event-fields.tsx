import type { EventRecord } from '@stream-events/client';
import type { ReactNode } from 'react';
import { printUserText } from '../kit/print-user-text.js';
import classes from './event-inspector.module.css';

// More rows would take too long to render. The JSON view shows all data.
const maxFields = 300;
const maxValueLength = 1_000;

/** Shows the event's data as paths and values. */
export function EventFields({ event }: { event: EventRecord }) {
  const fields = listFields(event.event_data);
  return (
    <table className={classes.fields}>
      <caption className={classes.caption}>
        {fields.length > maxFields ? `The first ${maxFields} fields` : ''}
      </caption>
      <tbody>
        {fields.slice(0, maxFields).map(([path, value]) => (
          <tr key={path}>
            <th scope="row">{breakPath(path)}</th>
            <td data-empty={value === null || value === '' || undefined}>
              <bdi>{printValue(value)}</bdi>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function listFields(value: unknown, path = ''): [path: string, value: unknown][] {
  if (typeof value !== 'object' || value === null) return [[path, value]];
  const entries = Object.entries(value);
  if (entries.length === 0) return path ? [[path, Array.isArray(value) ? 'empty list' : 'empty object']] : [];
  return entries.flatMap(([key, inner]) => listFields(inner, path ? `${path}.${key}` : key));
}

/** Lets long paths wrap after `_` and `.` instead of inside a word. */
function breakPath(path: string): ReactNode {
  return path.split(/(?<=[_.])/).flatMap((part, index) => (index === 0 ? part : [<wbr key={index} />, part]));
}

function printValue(value: unknown): string {
  if (value === null) return 'null';
  if (value === '') return 'empty';
  return typeof value === 'string' ? printUserText(value, maxValueLength) : JSON.stringify(value);
}
