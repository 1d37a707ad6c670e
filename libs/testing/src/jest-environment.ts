import { TestEnvironment } from 'jest-environment-node';
import { ServiceHost } from './service-host.js';

// Module state outside the test sandbox: all test files of a worker share one host.
const serviceHost = new ServiceHost();

/**
 * Jest's Node environment, with the worker's service host as a global variable. Jest loads the built file from dist, because plain Node
 * runs it.
 */
export default class ServiceEnvironment extends TestEnvironment {
  override async setup(): Promise<void> {
    await super.setup();
    this.global.serviceHost = serviceHost;
  }
}
