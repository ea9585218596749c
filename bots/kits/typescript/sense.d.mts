// The types of sense.mjs, which explains every name.
import type { Card, Suit, View } from "./tute.mjs";

export function announce(view: View): string | undefined;
export function aim(view: View): 1 | -1;
export function promise(view: View, trump: Suit): number;
export function likely_tricks(view: View): number;
export function tricks_in_sight(view: View): number;
export function strength_ratio(view: View): number;
export function trick_points(view: View): number;
export function to_follow(view: View): number[];
export function chance_to_hold(view: View, seat: number, card: Card): number;
export function songs_on_table(view: View, card: Card): number;
export function is_master(view: View, card: Card): boolean;
export function loose_cards(view: View): Card[];
