echo one
echo $EDITION
