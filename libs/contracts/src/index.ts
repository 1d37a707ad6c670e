// The decorators of the message classes need reflect-metadata before any of the classes is imported.
import 'reflect-metadata';

export * from './contract.js';
export * from './errors.js';
export * from './events/event-columns.js';
export * from './events/event-filters.js';
export * from './events/event-message.js';
export * from './events/event-record.js';
export * from './events/event-stream-description.js';
export * from './events/event-subject.js';
export * from './events/ingest-message.js';
export * from './events/dead-letters.contract.js';
export * from './events/read-events.contract.js';
export * from './events/store-events.contract.js';
export * from './json-object.js';
export * from './json-text.js';
export * from './list-page.js';
export * from './nats-users.js';
export { parseJson } from './parse-json.js';
export * from './platform/look-up.contract.js';
export * from './platform/platform-status.contract.js';
export * from './platform/subscriptions.contract.js';
export * from './streamers/streamers.contract.js';
export * from './streamers/streams.contract.js';
export * from './text.js';
