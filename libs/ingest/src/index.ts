export * from './generate-id.js';
export * from './event-ingest.service.js';
export * from './ingest-publisher.js';
export * from './ingest.module.js';
export * from './platform-ingest.service.js';
