import { useSyncExternalStore } from 'react';

/** The session of the user who has signed in. */
export interface Session {
  /** The token of the session, which is valid for 12 hours. */
  key: string;
  /** The id of the token, to mark it in the list of tokens. */
  id: string;
  username: string;
}

const storageKey = 'stream-events.session';

/**
 * The session of this tab.
 *
 * The session is stored in `sessionStorage`, so it survives a reload and ends with the tab. `localStorage` would store the session on disk
 * and share it with every tab that is opened later. With memory alone, the user would have to enter the password after each reload. An
 * attacker's script could read any of these stores, so the Content-Security-Policy allows only the scripts of the console.
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
    // Only another script can have written this text. The user must sign in again.
    return undefined;
  }
}
