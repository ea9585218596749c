// The code of a bot in an editor. Without this file it is a plain field of the same form. The editor is in a shadow root, because our
// content security policy allows its styles only as constructed style sheets.
import {
  EditorState, EditorView, HighlightStyle, bracketMatching, defaultKeymap, highlightActiveLine, highlightSpecialChars, history, historyKeymap,
  indentOnInput, indentUnit, indentWithTab, keymap, lineNumbers, pythonLanguage, syntaxHighlighting, tags,
} from "./vendor/codemirror.js";

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--side-3)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--bad)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.definition(tags.variableName), tags.definition(tags.className), tags.function(tags.variableName)], color: "var(--good)" },
  { tag: tags.invalid, textDecoration: "underline wavy" },
]);
const look = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--raise)", border: "1px solid light-dark(#9b958a, #5c6167)", borderRadius: "var(--round)", fontSize: ".9rem" },
  "&.cm-focused": { outline: "3px solid var(--good)", outlineOffset: "2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", maxHeight: "34rem", minHeight: "16rem" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--sunk)", color: "var(--soft)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--good) 9%, transparent)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "transparent", outline: "1px solid var(--good)" },
});

// Handle typing over a selection here: the browser would merge lines with inline styles, which the policy forbids.
const typeOver = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (event.inputType !== "insertText" || event.data === null || view.composing || view.state.selection.main.empty) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data), { scrollIntoView: true, userEvent: "input.type" });
    return true;
  },
});

const area = document.getElementById("id_source"), form = area?.form;
if (form) {
  const label = form.querySelector("label[for=id_source]"), host = document.createElement("div"), root = host.attachShadow({ mode: "open" });
  const press = (what) => () => { form.requestSubmit(what); return true; };
  const view = new EditorView({
    root, parent: root,
    state: EditorState.create({
      doc: area.value,
      extensions: [
        lineNumbers(), highlightSpecialChars(), highlightActiveLine(), history(), indentOnInput(), bracketMatching(), indentUnit.of("    "),
        EditorState.tabSize.of(4), pythonLanguage, syntaxHighlighting(colours), look, typeOver,
        keymap.of([{ key: "Mod-Enter", run: press(form.querySelector("button[name=do]")) }, ...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.contentAttributes.of({ tabindex: "0", "aria-label": label.textContent.trim(), "aria-description": form.querySelector(".keys").textContent.trim() }),
        EditorView.updateListener.of((update) => { if (update.docChanged) area.value = update.state.doc.toString(); }),
      ],
    }),
  });
  host.className = "code-editor";
  area.after(host);
  area.hidden = true;
  form.querySelector(".keys").hidden = false;
  label.addEventListener("click", () => view.focus());
  addEventListener("pageshow", () => { // After "back" the browser restores the field late.
    const text = view.state.doc.toString();
    if (area.value !== text) view.dispatch({ changes: { from: 0, to: text.length, insert: area.value } });
  });
  document.addEventListener("click", (event) => { // A click on a traceback goes to its line.
    const number = Number(event.target.closest("a[data-line]")?.dataset.line);
    if (!number || number > view.state.doc.lines) return;
    event.preventDefault();
    view.dispatch({ selection: { anchor: view.state.doc.line(number).from }, effects: EditorView.scrollIntoView(view.state.doc.line(number).from) });
    host.scrollIntoView({ block: "center" });
    view.focus();
  });
}
