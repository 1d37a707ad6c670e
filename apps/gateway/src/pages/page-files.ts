import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ServiceError } from '@stream-events/contracts';

/** The apps that the gateway serves as pages. */
export type PageApp = 'console' | 'overlay';

/** The apps are next to the gateway in the repository and in the image. */
const appsFolder = fileURLToPath(new URL('../../../', import.meta.url));

const yearMs = 365 * 86_400_000;

/** A file of a built page, and how long browsers may cache the file. */
export interface PageFile {
  path: string;
  options: { immutable: boolean; maxAge: number };
}

/** The files of a built page. Lists the files only once, because they are few and do not change. */
export class PageFiles {
  readonly folder: string;
  private readonly paths: ReadonlySet<string>;

  constructor(
    private readonly app: PageApp,
    apps = appsFolder,
  ) {
    this.folder = `${apps}${app}/dist/`;
    this.paths = new Set(listFiles(this.folder));
  }

  /**
   * Returns the file for a path below the page. For a path without a file, returns the page itself, whose script chooses the view.
   *
   * @throws ServiceError `not_found` for a missing asset, and for all paths if the page was not built
   */
  find(path: string): PageFile {
    if (!this.paths.has('index.html'))
      throw new ServiceError(
        'not_found',
        `This installation does not contain the ${this.app}. Build it with: npx nx build ${this.app}, and restart the gateway. ` +
          `The API works without the ${this.app}; see /api/docs/.`,
      );
    // The names of assets contain a hash of their content.
    const isAsset = path.startsWith('assets/');
    if (isAsset && !this.paths.has(path))
      throw new ServiceError(
        'not_found',
        `The ${this.app} has no such file. After an upgrade of the service, reload the page.`,
      );
    if (isAsset) return { path, options: { immutable: true, maxAge: yearMs } };
    const file = this.paths.has(path) ? path : 'index.html';
    return { path: file, options: { immutable: false, maxAge: 0 } };
  }
}

/** Returns the paths of all files, relative to the folder. Returns an empty list if the folder does not exist. */
function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(folder.length).replace(/^\//, ''));
}
