export * from './api-endpoints.js';
export * from './event-types.js';
export * from './scopes.js';
