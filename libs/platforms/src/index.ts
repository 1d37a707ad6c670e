export * from './inbound-platform.js';
export * from './outbound-platform.js';
export * from './platform-call-error.js';
export * from './platform-variables.js';
export * from './platforms.js';
export * from './twitch/catalogue/api-endpoints.js';
export * from './twitch/catalogue/event-types.js';
export * from './twitch/catalogue/scopes.js';
