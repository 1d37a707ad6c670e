import { ApiError } from './api-error.js';

export type PictureKind = 'users' | 'categories';

/** Reads a picture of a platform user or category with the session's token. Throws an ApiError. */
type ReadPicture = (kind: PictureKind, id: string) => Promise<Blob>;

interface Wanted {
  kind: PictureKind;
  id: string;
  state: 'new' | 'due' | 'loading';
  observers: Set<() => void>;
}

interface PictureLimits {
  /** Maximum number of pictures in memory (about 10 kB each). */
  kept: number;
  /** Maximum number of concurrent requests. */
  loading: number;
  /** A picture loads after it was wanted for this long. In a fast feed, most rows scroll away sooner. */
  delayMs: number;
  /** After a failure, all loading pauses for this long. */
  restMs: number;
}

const defaultLimits: PictureLimits = { kept: 300, loading: 4, delayMs: 300, restMs: 30_000 };

/**
 * Pictures of platform users and categories as blob URLs. Loads the pictures of rendered components, and keeps the most recently used ones.
 * Missing and failed pictures are not reported: the page shows a user's initial instead, and nothing for a category.
 */
export class Pictures {
  /** In order of last use, newest last. Null: the user or category has no picture. */
  private readonly known = new Map<string, string | null>();
  private readonly wanted = new Map<string, Wanted>();
  private loading = 0;
  private isResting = false;

  constructor(
    private readonly read: ReadPicture,
    private readonly limits = defaultLimits,
  ) {}

  /** Returns the picture's blob URL; undefined if the picture is not loaded or does not exist. */
  find(kind: PictureKind, id: string): string | undefined {
    return this.known.get(keyOf(kind, id)) ?? undefined;
  }

  /**
   * Requests a picture until the caller calls the returned function. Calls the observer when loading ends, with or without a picture. If
   * the picture is already known, only marks it as used.
   */
  want(kind: PictureKind, id: string, observer: () => void): () => void {
    const key = keyOf(kind, id);
    const known = this.known.get(key);
    if (known !== undefined) {
      this.keep(key, known);
      return () => undefined;
    }
    const wanted = this.wanted.get(key) ?? { kind, id, state: 'new', observers: new Set() };
    this.wanted.set(key, wanted);
    wanted.observers.add(observer);
    const timer = setTimeout(() => {
      if (wanted.state === 'new') wanted.state = 'due';
      this.loadNext();
    }, this.limits.delayMs);
    return () => {
      clearTimeout(timer);
      wanted.observers.delete(observer);
      if (wanted.observers.size === 0 && wanted.state !== 'loading') this.wanted.delete(key);
    };
  }

  /** Loads the most recently requested picture first, because it is the most likely to be visible. */
  private loadNext(): void {
    if (this.loading >= this.limits.loading || this.isResting) return;
    const next = [...this.wanted.values()].filter(({ state }) => state === 'due').at(-1);
    if (!next) return;
    this.loading += 1;
    void this.load(next).finally(() => {
      this.loading -= 1;
      this.loadNext();
    });
  }

  private async load(wanted: Wanted): Promise<void> {
    const { kind, id, observers } = wanted;
    const key = keyOf(kind, id);
    wanted.state = 'loading';
    try {
      this.keep(key, URL.createObjectURL(await this.read(kind, id)));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) this.keep(key, null);
      else this.rest();
    }
    this.wanted.delete(key);
    for (const observer of observers) observer();
  }

  private rest(): void {
    if (this.isResting) return;
    this.isResting = true;
    setTimeout(() => {
      this.isResting = false;
      for (let count = 0; count < this.limits.loading; count += 1) this.loadNext();
    }, this.limits.restMs);
  }

  private keep(key: string, picture: string | null): void {
    this.known.delete(key);
    this.known.set(key, picture);
    const [oldest] = this.known;
    if (this.known.size <= this.limits.kept || !oldest) return;
    this.known.delete(oldest[0]);
    if (oldest[1] !== null) URL.revokeObjectURL(oldest[1]);
  }
}

function keyOf(kind: PictureKind, id: string): string {
  return `${kind}/${id}`;
}
