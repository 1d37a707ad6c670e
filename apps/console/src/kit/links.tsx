import { Anchor, Button, type AnchorProps, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

type Native<Props> = Props & Omit<ComponentPropsWithRef<'a'>, keyof Props>;

/** A link to a view of the console, with checked paths and parameters. */
export const AnchorLink = createLink((props: Native<AnchorProps>) => <Anchor {...props} />);

/** A button that links to a view of the console. */
export const ButtonLink = createLink((props: Native<ButtonProps>) => <Button component="a" {...props} />);
