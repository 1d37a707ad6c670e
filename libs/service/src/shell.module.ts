import { Global, Module, type DynamicModule, type ValueProvider } from '@nestjs/common';
import { Registry } from 'prom-client';
import { Health } from './health.js';
import type { Shell } from './service.js';

export const CONFIG = Symbol('CONFIG');
export const LOGGER = Symbol('LOGGER');

/**
 * Makes the shell's parts (`CONFIG`, `LOGGER`, `Health`, `Registry`) injectable in every module of a service. Also provides the connections
 * that the service opens before it creates its modules.
 */
@Global()
@Module({})
export class ShellModule {
  static register(shell: Shell<unknown>, connections: readonly ValueProvider[] = []): DynamicModule {
    const providers = [
      { provide: CONFIG, useValue: shell.config },
      { provide: LOGGER, useValue: shell.logger },
      { provide: Health, useValue: shell.health },
      { provide: Registry, useValue: shell.metrics },
      ...connections,
    ];
    return { module: ShellModule, providers, exports: providers };
  }
}
