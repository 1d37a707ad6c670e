/** istanbul's counters for a file: number of runs of each statement, function, and branch. */
interface FileCoverage {
  s: Record<string, number>;
  f: Record<string, number>;
  b: Record<string, number[]>;
}

/** A counter that is still 0. */
interface Counter {
  counts: Record<string, number>;
  key: string;
}

/** Global variable in which instrumented code keeps its counters (see `instrumenting-loader.ts`). */
export const coverageVariable = '__fuzzingCoverage__';

/**
 * Detects inputs that reach new code. The maintained coverage-guided fuzzer for Node, jazzer.js 4.0, does the same, but needs glibc 2.38.
 * Debian 12 has 2.36.
 */
export class Coverage {
  private readonly known = new Set<FileCoverage>();
  private unreached: Counter[] = [];
  private reached = 0;

  constructor() {
    this.takeNew();
  }

  /** Statements, functions, and branches reached so far. 0 without instrumented code. */
  get count(): number {
    return this.reached;
  }

  /** Number of statements, functions, and branches that were first reached since the last call. */
  takeNew(): number {
    const before = this.reached;
    // A file's counters appear when Node loads the file.
    for (const file of filesOf(globalThis)) if (!this.known.has(file)) this.add(file);
    this.unreached = this.unreached.filter(({ counts, key }) => counts[key] === 0);
    this.reached = this.total - this.unreached.length;
    return this.reached - before;
  }

  private total = 0;

  private add(file: FileCoverage): void {
    this.known.add(file);
    // Safe cast: the code reads the array only by index.
    const groups = [
      file.s,
      file.f,
      ...Object.values(file.b).map((counts) => counts as unknown as Record<string, number>),
    ];
    for (const counts of groups)
      for (const key of Object.keys(counts)) {
        this.unreached.push({ counts, key });
        this.total += 1;
      }
  }
}

function filesOf(scope: object): FileCoverage[] {
  const files = (scope as Record<string, Record<string, FileCoverage> | undefined>)[coverageVariable]; // Safe cast: set by instrumented code
  return Object.values(files ?? {});
}
