// Adds a button to each password field that shows what one types. Without this file the field stays covered.
const { show } = document.currentScript.dataset;
for (const field of document.querySelectorAll("input[type=password]")) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "shows", textContent: show });
  button.setAttribute("aria-pressed", "false");
  button.setAttribute("aria-controls", field.id);
  button.addEventListener("click", () => {
    const open = field.type === "password";
    field.type = open ? "text" : "password";
    button.setAttribute("aria-pressed", String(open));
    field.focus();
  });
  field.after(button);
}
