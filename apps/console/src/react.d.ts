import 'react';

declare module 'react' {
  /** The custom CSS properties of the console's styles. */
  interface CSSProperties {
    '--avatar-hue'?: number;
    '--avatar-size'?: string;
    '--column-count'?: number;
    '--topics-height'?: string;
    '--types-height'?: string;
  }
}
