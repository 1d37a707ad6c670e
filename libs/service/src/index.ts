export * from './close-all.js';
export * from './config.js';
export * from './failure-log.js';
export * from './health.js';
export * from './logger.js';
export * from './service.js';
export * from './shared-variables.js';
export * from './shell.module.js';
export { Counter, Gauge, Histogram, Registry } from 'prom-client';
