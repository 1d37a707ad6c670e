import { useSyncExternalStore } from 'react';

export interface Session {
  /** Token of the session. It expires after 12 hours. */
  key: string;
  /** Id of the token, to mark it in the token list. */
  id: string;
  username: string;
}

const storageKey = 'stream-events.session';

/**
 * The session of this tab, in `sessionStorage`: it survives reloads and ends with the tab.
 *
 * `localStorage` would keep it on disk and share it with all later tabs. Memory alone would require the password after each reload. A
 * malicious script could read any of these stores, so the Content-Security-Policy allows only the console's own scripts.
 */
class SessionStore {
  private current = read();
  private readonly listeners = new Set<() => void>();

  get(): Session | undefined {
    return this.current;
  }

  begin(session: Session): void {
    sessionStorage.setItem(storageKey, JSON.stringify(session));
    this.change(session);
  }

  end(): void {
    sessionStorage.removeItem(storageKey);
    if (this.current) this.change(undefined);
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private change(session: Session | undefined): void {
    this.current = session;
    for (const listener of this.listeners) listener();
  }
}

export const sessionStore = new SessionStore();

export function useSession(): Session | undefined {
  return useSyncExternalStore(
    (listener) => sessionStore.subscribe(listener),
    () => sessionStore.get(),
  );
}

function read(): Session | undefined {
  const text = sessionStorage.getItem(storageKey);
  if (!text) return undefined;
  try {
    return JSON.parse(text) as Session; // Safe cast: only `begin` writes it.
  } catch {
    // Another script wrote this text. Require a new sign-in.
    return undefined;
  }
}
