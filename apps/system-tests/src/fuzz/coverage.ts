/** The counters that istanbul adds to a file: how often each statement, function, and branch was reached. */
interface FileCoverage {
  s: Record<string, number>;
  f: Record<string, number>;
  b: Record<string, number[]>;
}

/** A counter that is still zero. */
interface Counter {
  counts: Record<string, number>;
  key: string;
}

/** The global variable in which the instrumented code keeps its counters; see `instrumenting-loader.ts`. */
export const coverageVariable = '__fuzzingCoverage__';

/**
 * Finds out whether inputs reach code that no earlier input reached. jazzer.js 4.0, the maintained coverage-guided fuzzer for Node, does
 * the same, but its binary needs glibc 2.38, and Debian 12 has glibc 2.36.
 */
export class Coverage {
  private readonly known = new Set<FileCoverage>();
  private unreached: Counter[] = [];
  private reached = 0;

  constructor() {
    this.takeNew();
  }

  /** The number of statements, functions, and branches that were reached; 0 without instrumented code. */
  get count(): number {
    return this.reached;
  }

  /** Returns the number of statements, functions, and branches that were reached for the first time since the last call. */
  takeNew(): number {
    const before = this.reached;
    // The instrumented code adds the counters of a file when Node loads the file.
    for (const file of filesOf(globalThis)) if (!this.known.has(file)) this.add(file);
    this.unreached = this.unreached.filter(({ counts, key }) => counts[key] === 0);
    this.reached = this.total - this.unreached.length;
    return this.reached - before;
  }

  private total = 0;

  private add(file: FileCoverage): void {
    this.known.add(file);
    // Safe cast: the array is read only by its indexes.
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
  const files = (scope as Record<string, Record<string, FileCoverage> | undefined>)[coverageVariable]; // Safe cast: only the instrumented code sets it
  return Object.values(files ?? {});
}
