import { createRequire, isBuiltin, Module } from 'node:module';
import { setImmediate } from 'node:timers';
import vm from 'node:vm';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/**
 * Runs the test files of a worker in one realm, and loads each package once per worker. In Jest's own environment, every test file has a
 * realm and loads all packages again, which took half of the time of unit tests. The modules of this repository are still loaded for each
 * test file.
 */
export default class SharedPackagesEnvironment {
  global = globalThis;
  fakeTimers = null;

  constructor({ projectConfig }) {
    this.conditions = projectConfig.testEnvironmentOptions.customExportConditions;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.globals = Object.getOwnPropertyDescriptors(globalThis);
    this.variables = { ...process.env };
  }

  async setup() {
    globalThis.keptInWorker = kept;
  }

  /** Undoes what the test file has changed, for the next one. */
  async teardown() {
    this.fakeTimersModern.dispose();
    for (const name of Reflect.ownKeys(globalThis))
      if (!(name in this.globals)) Reflect.deleteProperty(globalThis, name);
    for (const name of Reflect.ownKeys(this.globals)) {
      const { value, get } = Object.getOwnPropertyDescriptor(globalThis, name) ?? {};
      const before = this.globals[name];
      if (value !== before.value || get !== before.get) Reflect.defineProperty(globalThis, name, before);
    }
    process.exit = exit; // Jest replaces it for each test file.
    for (const name of Object.keys(process.env)) if (!(name in this.variables)) delete process.env[name];
    Object.assign(process.env, this.variables);
  }

  exportConditions() {
    return this.conditions;
  }

  getVmContext() {
    return mainContext;
  }
}

// As in Jest's own environment: more than Node's 10 lines of a stack help to understand a failed test.
Error.stackTraceLimit = 100;

const { exit } = process;

/** What test files keep for the next ones, by name (see `keepInWorker`). */
const kept = new Map();

// What test files keep would also keep the process alive, so end it with jest-worker's message to end.
const endMessage = 2;
process.on('message', (message) => {
  if (Array.isArray(message) && message[0] === endMessage) setImmediate(() => exit.call(process));
});

// Jest needs a context, and node:vm only knows contexts beside the main one. So Jest gets this object, and node:vm gets none.
const mainContext = {};
const withoutMain = (options, name) =>
  options?.[name] === mainContext ? { ...options, [name]: undefined } : options;
const { compileFunction, SourceTextModule, SyntheticModule } = vm;
const { runInContext } = vm.Script.prototype;
vm.compileFunction = (code, parameters, options) =>
  compileFunction(code, parameters, withoutMain(options, 'parsingContext'));
vm.SourceTextModule = class extends SourceTextModule {
  constructor(code, options) {
    super(code, withoutMain(options, 'context'));
  }
};
vm.SyntheticModule = class extends SyntheticModule {
  constructor(names, evaluate, options) {
    super(names, evaluate, withoutMain(options, 'context'));
  }
};
vm.Script.prototype.runInContext = function (context, options) {
  return context === mainContext ? this.runInThisContext(options) : runInContext.call(this, context, options);
};

// Jest leaves core modules to Node. Here, packages count as core modules, and Jest may write their names with the prefix of core modules.
const require = createRequire(createRequire(import.meta.url).resolve('jest-runtime'));
const { default: Resolver } = require('jest-resolve');
const { isCoreModule } = Resolver.prototype;
const packages = new Map();
Resolver.prototype.isCoreModule = function (specifier) {
  const name = specifier.replace(/^node:/, '');
  if (!packages.has(name)) packages.set(name, load(name));
  return packages.get(name) !== undefined || isCoreModule.call(this, specifier);
};
const { _load } = Module;
Module._load = function (specifier, ...rest) {
  return (
    (specifier.startsWith('node:') && packages.get(specifier.slice(5))) ||
    _load.call(this, specifier, ...rest)
  );
};

/** Returns what the package exports, or undefined if test files cannot share it. */
function load(name) {
  // Not a package, or one that Jest itself must load for each test file.
  if (isBuiltin(name) || /^[./#]|^(data|file):|^@stream-events\/|^@jest\/|^jest/.test(name)) return undefined;
  try {
    const exported = require(name);
    // Jest would take the whole module for its default export.
    return 'default' in exported && exported.__esModule ? undefined : exported;
  } catch {
    return undefined;
  }
}
