import { Global, Module, type DynamicModule } from '@nestjs/common';
import { Registry } from 'prom-client';
import { Health } from './health.js';
import type { Shell } from './service.js';

/** Injection token of the app's configuration. */
export const CONFIG = Symbol('CONFIG');
/** Injection token of the service's logger. */
export const LOGGER = Symbol('LOGGER');

/** Makes the shell's parts injectable everywhere in a service: `CONFIG`, `LOGGER`, `Health`, `Registry`. */
@Global()
@Module({})
export class ShellModule {
  static register(shell: Shell<unknown>): DynamicModule {
    const providers = [
      { provide: CONFIG, useValue: shell.config },
      { provide: LOGGER, useValue: shell.logger },
      { provide: Health, useValue: shell.health },
      { provide: Registry, useValue: shell.metrics },
    ];
    return { module: ShellModule, providers, exports: providers };
  }
}
