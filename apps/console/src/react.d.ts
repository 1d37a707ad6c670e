import 'react';

declare module 'react' {
  /** Custom properties of this console's styles. */
  interface CSSProperties {
    '--avatar-hue'?: number;
    '--avatar-size'?: string;
    '--column-count'?: number;
    '--topics-height'?: string;
    '--types-height'?: string;
  }
}
