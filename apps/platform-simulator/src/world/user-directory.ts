import { Random } from './random.js';
import { createUserName } from './user-names.js';
import type { User } from './user.js';

/** What a user is made from; what is missing follows from the login. */
export interface NewUser {
  login: string;
  name?: string | undefined;
  id?: string | undefined;
}

/** As many may be made at once: twice what the largest installation that is tested monitors. */
export const maxMadeAtOnce = 20_000;

/** A bound on memory. */
export const maxUsers = 50_000;

/** Everyone who has an account, found by id and by login. Made-up names follow from the seed. */
export class UserDirectory {
  private readonly byId = new Map<string, User>();
  private readonly byLogin = new Map<string, User>();
  private readonly removed = new Set<string>();
  private readonly names: Random;

  constructor(seed: string) {
    this.names = new Random(`${seed}/names`);
  }

  get size(): number {
    return this.byId.size;
  }

  find(id: string): User | undefined {
    return this.byId.get(id);
  }

  /** Logins are the same in any case. */
  findByLogin(login: string): User | undefined {
    return this.byLogin.get(login.toLowerCase());
  }

  /** Users in the order in which they were made. */
  list(first: number, offset: number): User[] {
    return [...this.byId.values()].slice(offset, offset + first);
  }

  /** Whether there was a user of this id who is gone. */
  wasRemoved(id: string): boolean {
    return this.removed.has(id);
  }

  /** Adds a user whose id and login nobody has. */
  add({ login, name, id }: NewUser): User {
    // By the name alone, not the seed: who is monitored is the same user after a restart of the simulation.
    const random = new Random(`user/${login.toLowerCase()}`);
    const user = {
      id: id ?? this.chooseId(random),
      login: login.toLowerCase(),
      name: name ?? login,
      createdAt: new Date(Date.UTC(random.integer(2012, 2025), 0, random.integer(1, 365))).toISOString(),
    };
    this.byId.set(user.id, user);
    this.byLogin.set(user.login, user);
    this.removed.delete(user.id);
    return user;
  }

  /** Adds a user with a made-up name. */
  addMadeUp(): User {
    for (;;) {
      const login = createUserName(this.names);
      if (!this.findByLogin(login)) return this.add({ login });
    }
  }

  /** Gives a user another login, which nobody else has. */
  rename(user: User, login: string, name: string): void {
    this.byLogin.delete(user.login);
    user.login = login.toLowerCase();
    user.name = name;
    this.byLogin.set(user.login, user);
  }

  remove(user: User): void {
    this.byId.delete(user.id);
    this.byLogin.delete(user.login);
    const [oldest] = this.removed;
    if (this.removed.size >= maxUsers && oldest !== undefined) this.removed.delete(oldest);
    this.removed.add(user.id);
  }

  private chooseId(random: Random): string {
    for (;;) {
      const id = random.digits(9);
      if (!this.byId.has(id) && !this.removed.has(id)) return id;
    }
  }
}
