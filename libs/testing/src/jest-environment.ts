import { TestEnvironment } from 'jest-environment-node';
import { ServiceHost } from './service-host.js';

// Jest loads this module once per worker, outside the sandbox of a test file: every file of the worker gets the same host.
const serviceHost = new ServiceHost();

/** Jest's environment for Node, with the worker's service host as a global variable. Plain Node loads this file, from dist. */
export default class ServiceEnvironment extends TestEnvironment {
  override async setup(): Promise<void> {
    await super.setup();
    this.global.serviceHost = serviceHost;
  }
}
