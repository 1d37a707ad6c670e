import { NotFoundException } from '@nestjs/common';
import { Random } from './random.js';

/** A user with an account. The id is fixed; login and display name can change. */
export interface User {
  readonly id: string;
  login: string;
  /** The login in the user's preferred spelling. */
  name: string;
  readonly createdAt: string;
}

const qualities = ['Brave', 'Calm', 'Cosy', 'Dizzy', 'Eager', 'Fuzzy', 'Jolly', 'Lucky', 'Mellow', 'Witty'];
const beings = ['Badger', 'Comet', 'Dragon', 'Ferret', 'Heron', 'Koala', 'Lynx', 'Otter', 'Raven', 'Wombat'];

/** The prefix shows that the user is simulated. */
function createUserName(random: Random): string {
  return `Sim_${random.pick(qualities)}${random.pick(beings)}_${random.integer(1, 99_999)}`;
}

/** Missing fields are derived from the login. */
export interface NewUser {
  login: string;
  name?: string | undefined;
  id?: string | undefined;
}

/** Maximum users per request: twice the streamers of the largest tested installation. */
export const maxUsersPerRequest = 20_000;

/** Maximum number of users, to bound memory. */
export const maxUsers = 50_000;

/** All users, by id and by login. Generated names depend only on the seed. */
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

  /** Ignores case. */
  findByLogin(login: string): User | undefined {
    return this.byLogin.get(login.toLowerCase());
  }

  /** @throws NotFoundException for an unknown id */
  get(id: string): User {
    return this.find(id) ?? missing(id);
  }

  /** @throws NotFoundException for an unknown login */
  getByLogin(login: string): User {
    return this.findByLogin(login) ?? missing(login);
  }

  /** In order of creation. */
  list(): User[] {
    return [...this.byId.values()];
  }

  wasRemoved(id: string): boolean {
    return this.removed.has(id);
  }

  /** The caller has checked that id and login are free. */
  add({ login, name, id }: NewUser): User {
    // Derive the user from the login, not the seed: a monitored streamer then stays the same user after a restart.
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

  addGenerated(): User {
    for (;;) {
      const login = createUserName(this.names);
      if (!this.findByLogin(login)) return this.add({ login });
    }
  }

  /** The caller has checked that the new login is free. */
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

function missing(name: string): never {
  throw new NotFoundException(`there is no user ${name}`);
}
